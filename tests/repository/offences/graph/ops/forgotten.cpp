void forgotten(int) {}
