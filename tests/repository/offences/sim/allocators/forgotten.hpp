class Forgotten : public Allocator {
};
