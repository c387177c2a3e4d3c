void listed(int) {}
