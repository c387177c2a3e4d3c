class Listed : public Allocator {
};
