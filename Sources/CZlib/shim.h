// zlib(3), which Swift does not bring along.
#include <zlib.h>
