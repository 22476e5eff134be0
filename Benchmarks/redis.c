// What one write costs that is durable on two Redis servers: SET on the first, then WAIT until the second has it.
//
//   redis PORT COUNT PAUSE_MILLISECONDS    prints p50 and p99 (`times.h`)
//
// Both servers run with `appendfsync always`, under which a server flushes its file before it answers anybody, the
// acknowledgement that WAIT counts among that (redis.io, "Redis persistence" and "WAIT").
//
// Build: cc -O2 -o redis redis.c

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "items.h"
#include "times.h"

static int connection;

static void fail(const char *what) {
    fprintf(stderr, "redis: %s\n", what);
    exit(1);
}

// Sends one command and reads one line of answer.
static void ask(const char *command, int length, const char *expected) {
    char answer[256];
    ssize_t held = 0;
    if (write(connection, command, (size_t)length) != length) fail("the server closed the connection");
    do {
        const ssize_t more = read(connection, answer + held, sizeof answer - 1 - (size_t)held);
        if (more <= 0) fail("the server closed the connection");
        held += more;
    } while (answer[held - 1] != '\n' && held < (ssize_t)sizeof answer - 1);
    answer[held] = 0;
    if (strncmp(answer, expected, strlen(expected)) != 0) fail(answer);
}

static void writeItem(uint32_t index) {
    static const char wait[] = "*3\r\n$4\r\nWAIT\r\n$1\r\n1\r\n$4\r\n1000\r\n";
    char command[256];
    const int length = snprintf(
        command, sizeof command, "*3\r\n$3\r\nSET\r\n$8\r\nitem%04u\r\n$16\r\nRoom %011u\r\n", index % 10000, index);
    ask(command, length, "+OK");
    ask(wait, (int)sizeof wait - 1, ":1");
}

int main(int argc, char **argv) {
    const int count = argc == 4 ? atoi(argv[2]) : 0, one = 1;
    if (count <= 0) return fprintf(stderr, "usage: redis PORT COUNT PAUSE_MILLISECONDS\n"), 64;
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    connection = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection, (const struct sockaddr *)&address, sizeof address)) fail("no server answers");
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    double *seconds = calloc((size_t)count, sizeof *seconds);
    for (int at = 0; at < count; at++) {
        usleep((useconds_t)(atof(argv[3]) * 1000));
        const double start = secondsNow();
        writeItem((uint32_t)at);
        seconds[at] = secondsNow() - start;
    }
    printTimes(seconds, count);
    return 0;
}
