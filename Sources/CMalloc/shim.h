// malloc_trim(3), which the Glibc module does not show.
#include <malloc.h>
