// malloc_trim(3) and mallopt(3), which the Glibc module does not show.
#include <malloc.h>

// By default each thread gets an arena of its own, up to eight a core, and what is freed in one serves no other: the memory of a
// daemon crept up by five bytes with each edit, though what was in use stayed the same. To be called first of all.
static inline void keepFewArenas(void) { mallopt(M_ARENA_MAX, 2); }
