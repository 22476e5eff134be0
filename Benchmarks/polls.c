// Sends one request over and over on kept-alive connections and times the answers, against a server that is there or
// against one of its own that does nothing but answer: the raw baseline for HTTP.
//
//   polls PATH CONNECTIONS COUNT < HEAD   of a Unix socket, as a proxy would; HEAD is a request's first line and headers, without an empty line
//   polls raw CONNECTIONS COUNT < HEAD
//
// Each connection sends its next request when it has the answer to the last. Prints one JSON object: seconds for all
// answers, the median in milliseconds, and with `raw` the seconds of a core that the bare server took.
//
// Build: cc -O2 -o polls polls.c

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "http.h"

enum { connectionsAtMost = 64, headBytes = 8192 };

static struct Connection connections[connectionsAtMost];
static char head[headBytes];
static size_t headLength;

static void ask(struct Connection *connection) {
    connection->status = connection->inBody = connection->chunked = connection->afterChunk = 0;
    connection->headLength = connection->textLength = 0;
    if (write(connection->descriptor, head, headLength) != (ssize_t)headLength) die("the server closed the connection", 69);
}

static int ascending(const void *left, const void *right) {
    const double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}

// Returns the seconds from the first request to the last answer; `milliseconds` gets the median.
static double hammer(int count, const char *path, int total, double *milliseconds) {
    struct pollfd waiting[connectionsAtMost];
    double sent[connectionsAtMost], *took = calloc((size_t)total, sizeof *took);
    int asked = 0, answered = 0;
    for (int at = 0; at < count; at++) {
        connectTo(&connections[at], path);
        waiting[at] = (struct pollfd){.fd = connections[at].descriptor, .events = POLLIN};
    }
    const double start = secondsNow();
    for (; asked < count && asked < total; asked++) sent[asked] = secondsNow(), ask(&connections[asked]);
    while (answered < total) {
        if (poll(waiting, (nfds_t)count, 30000) <= 0) die("the server does not answer", 75);
        for (int at = 0; at < count; at++) {
            if (!waiting[at].revents || !receive(&connections[at])) continue;
            if (connections[at].status != 200) fprintf(stderr, "%s\n", connections[at].text), die("the server refused", 76);
            took[answered++] = secondsNow() - sent[at];
            if (asked < total) asked++, sent[at] = secondsNow(), ask(&connections[at]);
        }
    }
    const double seconds = secondsNow() - start;
    for (int at = 0; at < count; at++) close(connections[at].descriptor);
    qsort(took, (size_t)total, sizeof *took, ascending);
    *milliseconds = took[total / 2] * 1e3;
    free(took);
    return seconds;
}

// Answers whatever comes until every connection is closed. A request comes in one piece, since they are small.
static void serve(int listener, int count) {
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok";
    struct pollfd waiting[connectionsAtMost];
    char bytes[headBytes];
    for (int at = 0; at < count; at++) waiting[at] = (struct pollfd){.fd = accept(listener, NULL, NULL), .events = POLLIN};
    for (int left = count; left > 0;) {
        poll(waiting, (nfds_t)count, -1);
        for (int at = 0; at < count; at++) {
            if (!waiting[at].revents) continue;
            const ssize_t length = read(waiting[at].fd, bytes, sizeof bytes);
            if (length > 0 && write(waiting[at].fd, answer, sizeof answer - 1) > 0) continue;
            close(waiting[at].fd), waiting[at].fd = -1, left--;
        }
    }
}

static pid_t startBareServer(int count, struct sockaddr_un *address) {
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path, sizeof address->sun_path, "/tmp/muster-polls-%d", (int)getpid());
    if (bind(listener, (struct sockaddr *)address, sizeof *address) || listen(listener, connectionsAtMost)) die("cannot listen", 71);
    const pid_t child = fork();
    if (child == 0) serve(listener, count), _exit(0);
    close(listener);
    return child;
}

int main(int argc, char **argv) {
    const int count = argc == 4 ? atoi(argv[2]) : 0, total = argc == 4 ? atoi(argv[3]) : 0;
    if (count < 1 || count > connectionsAtMost || total < 1) die("usage: polls PATH|raw CONNECTIONS COUNT < HEAD", 64);
    signal(SIGPIPE, SIG_IGN);
    for (char line[4096]; fgets(line, sizeof line, stdin) && headLength + sizeof line + 4 < sizeof head;)
        headLength += (size_t)sprintf(head + headLength, "%.*s\r\n", (int)strcspn(line, "\r\n"), line);
    headLength += (size_t)sprintf(head + headLength, "\r\n");
    const int isRaw = strcmp(argv[1], "raw") == 0;
    struct sockaddr_un bare;
    const pid_t server = isRaw ? startBareServer(count, &bare) : 0;
    double median = 0;
    const double seconds = hammer(count, isRaw ? bare.sun_path : argv[1], total, &median);
    struct rusage used = {0};
    if (isRaw) wait4(server, NULL, 0, &used), unlink(bare.sun_path);
    const double core = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec)
        + (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
    printf("{\"seconds\": %.6f, \"count\": %d, \"p50\": %.6f, \"coreSeconds\": %.6f}\n", seconds, total, median, core);
    return 0;
}
