// libqrencode(3): QR codes, ISO/IEC 18004.
#include <qrencode.h>
