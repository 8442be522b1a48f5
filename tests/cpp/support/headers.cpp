// A program of its own, because only programs are compiled as tests are: its precompiled header serves them.
int main() {}
