// Sends requests to one daemon and times until others hold what came of them, without a slow client in the way.
//
//   reach --on SOCKET --job JOB --watch SOCKET [--watch SOCKET]… [--pause MILLISECONDS] < REQUESTS
//
// A request is a line of tab-separated METHOD, PATH, BODY and the goal: REPLICA=SEQUENCE, separated by spaces. It is
// done when every watched daemon has told, on its event stream, that it holds the job's journals that far. Each
// request prints a line: milliseconds until the answer, and until each of the watched daemons got there.
//
// Build: cc -O2 -o reach reach.c

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "http.h"

enum { watchersAtMost = 32, goalsAtMost = 16, giveUpSeconds = 30 };

struct Goal {
    char replica[80];
    unsigned long long sequence;
};

// One daemon's event stream, and how far it has said to hold each journal.
struct Watcher {
    struct Connection connection;
    struct Goal held[goalsAtMost * 4];
    int heldCount;
    double reachedAt;
};

static struct Watcher watchers[watchersAtMost];
static int watcherCount;
static const char *job;

static void hold(struct Watcher *watcher, const char *replica, size_t length, unsigned long long sequence) {
    int at = 0;
    while (at < watcher->heldCount && strncmp(watcher->held[at].replica, replica, length) != 0) at++;
    if (at == watcher->heldCount) {
        if (at == goalsAtMost * 4) return;
        watcher->heldCount++;
        memcpy(watcher->held[at].replica, replica, length);
        watcher->held[at].replica[length] = 0;
    }
    if (sequence > watcher->held[at].sequence) watcher->held[at].sequence = sequence;
}

// Takes `"vector":{"REPLICA":SEQUENCE,…}` out of a line of the stream; every other line is left alone.
static void takeLine(void *context, const char *line) {
    const char *at = strstr(line, "\"vector\":{");
    if (strncmp(line, "data:", 5) != 0 || !at || !strstr(line, job)) return;
    for (at += 10; *at == '"';) {
        const char *const replica = at + 1, *const end = strchr(replica, '"');
        if (!end || end[1] != ':' || end - replica >= 80) return;
        char *rest;
        const unsigned long long sequence = strtoull(end + 2, &rest, 10);
        hold(context, replica, (size_t)(end - replica), sequence);
        at = *rest == ',' ? rest + 1 : rest;
    }
}

static int holdsAll(const struct Watcher *watcher, const struct Goal *goals, int count) {
    for (int goal = 0; goal < count; goal++) {
        int found = 0;
        for (int at = 0; at < watcher->heldCount; at++)
            found |= strcmp(watcher->held[at].replica, goals[goal].replica) == 0 && watcher->held[at].sequence >= goals[goal].sequence;
        if (!found) return 0;
    }
    return 1;
}

static int parseGoals(char *text, struct Goal *goals) {
    int count = 0;
    for (char *word = strtok(text, " \n"); word; word = strtok(NULL, " \n")) {
        char *const equals = strchr(word, '=');
        if (!equals || equals - word >= 80 || count == goalsAtMost) die("a goal is REPLICA=SEQUENCE", 65);
        *equals = 0;
        strcpy(goals[count].replica, word);
        goals[count++].sequence = strtoull(equals + 1, NULL, 10);
    }
    return count;
}

// One request, from its first byte to the last watcher's goal.
static void reach(struct Connection *on, char *line) {
    char *rest = line;
    const char *const method = strsep(&rest, "\t"), *const path = strsep(&rest, "\t"), *const body = strsep(&rest, "\t");
    struct Goal goals[goalsAtMost];
    if (!rest) die("a request is METHOD, PATH, BODY and GOAL with tabs between", 65);
    const int goalCount = parseGoals(rest, goals);
    struct pollfd waiting[watchersAtMost + 1] = {{.fd = on->descriptor, .events = POLLIN}};
    for (int at = 0; at < watcherCount; at++) {
        waiting[at + 1] = (struct pollfd){.fd = watchers[at].connection.descriptor, .events = POLLIN};
        watchers[at].reachedAt = 0;
    }
    double answeredAt = 0;
    int missing = watcherCount;
    const double start = secondsNow();
    sendRequest(on, method, path, body);
    while (missing > 0 || answeredAt == 0) {
        // Looks before it waits: what an earlier read brought may already be enough.
        for (int at = 0; at < watcherCount; at++)
            if (watchers[at].reachedAt == 0 && holdsAll(&watchers[at], goals, goalCount)) {
                watchers[at].reachedAt = secondsNow();
                missing--;
            }
        if (missing == 0 && answeredAt != 0) break;
        if (poll(waiting, (nfds_t)watcherCount + 1, 1000) < 0) die("poll failed", 71);
        if (secondsNow() - start > giveUpSeconds) die("gave up: not every daemon got there in time", 75);
        if (waiting[0].revents && answeredAt == 0 && receive(on)) {
            answeredAt = secondsNow();
            if (on->status / 100 != 2) fprintf(stderr, "%s %s: %s\n", method, path, on->text), die("the daemon refused", 76);
        }
        for (int at = 0; at < watcherCount; at++)
            if (waiting[at + 1].revents) receive(&watchers[at].connection);
    }
    printf("%.4f", (answeredAt - start) * 1e3);
    for (int at = 0; at < watcherCount; at++) printf(" %.4f", (watchers[at].reachedAt - start) * 1e3);
    printf("\n");
}

int main(int argc, char **argv) {
    static char line[1 << 16];
    static struct Connection on;
    const char *socketPath = NULL;
    unsigned pauseMicroseconds = 0;
    for (int at = 1; at + 1 < argc; at += 2) {
        if (strcmp(argv[at], "--on") == 0) socketPath = argv[at + 1];
        else if (strcmp(argv[at], "--job") == 0) job = argv[at + 1];
        else if (strcmp(argv[at], "--pause") == 0) pauseMicroseconds = (unsigned)(atof(argv[at + 1]) * 1000);
        else if (strcmp(argv[at], "--watch") == 0 && watcherCount < watchersAtMost)
            connectTo(&watchers[watcherCount++].connection, argv[at + 1]);
        else die("usage: reach --on SOCKET --job JOB --watch SOCKET … [--pause MILLISECONDS] < REQUESTS", 64);
    }
    if (!socketPath || !job) die("usage: reach --on SOCKET --job JOB --watch SOCKET … < REQUESTS", 64);
    for (int at = 0; at < watcherCount; at++) {
        // All jobs' events: an empty laptop does not know the job yet. No single changes: they are for people.
        struct Connection *const connection = &watchers[at].connection;
        connection->takeLine = takeLine;
        connection->context = &watchers[at];
        sendRequest(connection, "GET", "/v1/events?type=job", "");
        while (connection->status == 0) receive(connection);
        if (connection->status != 200) die("a daemon refused its event stream", 76);
    }
    connectTo(&on, socketPath);
    while (fgets(line, sizeof line, stdin)) {
        reach(&on, line);
        if (pauseMicroseconds) usleep(pauseMicroseconds);
    }
    return 0;
}
