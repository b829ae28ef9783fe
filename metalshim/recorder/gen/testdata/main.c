// The program: it is linked with the library, so that a recorder that is loaded
// before it stands between them.
int play(void);
int main(void) { return play(); }
