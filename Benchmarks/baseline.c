// The raw baselines that a run of the benchmarks is measured against, each one JSON object on a line:
//
//   baseline rows DIRECTORY ITEMS   a loop over the sqlite3 C API that writes every field value as a row, durably
//   baseline commit DIRECTORY COUNT one row in a transaction of its own
//   baseline echo COUNT             64 bytes to and fro over loopback TCP
//
// Build: cc -O2 -o baseline baseline.c -lsqlite3

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "items.h"
#include "times.h"

// As many items as the daemon commits together.
enum { itemsPerTransaction = 2500, echoBytes = 64 };

// Commits before the measured ones: until the WAL has been checkpointed once, each commit also makes its file longer.
enum { commitsToWarmUp = 1200 };

static sqlite3 *database;

static void fail(const char *what) {
    fprintf(stderr, "baseline: %s: %s\n", what, database ? sqlite3_errmsg(database) : "failed");
    exit(1);
}

static void run(const char *sql) {
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK) fail(sql);
}

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK) fail(sql);
    return statement;
}

static void step(sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) fail(sqlite3_sql(statement));
    sqlite3_reset(statement);
}

static void removeStore(const char *directory, char *path, size_t size) {
    const char *const suffixes[] = {"-wal", "-shm", ""};
    for (int at = 0; at < 3; at++) {
        snprintf(path, size, "%s/baseline.sqlite%s", directory, suffixes[at]);
        unlink(path);
    }
}

static void openStore(const char *directory) {
    char path[4096];
    removeStore(directory, path, sizeof path);
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL)) fail(path);
    run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
        "CREATE TABLE field(job INTEGER, item BLOB, field INTEGER, stamp INTEGER, replica INTEGER, value TEXT, "
        "PRIMARY KEY(job, item, field)) WITHOUT ROWID");
}

static const char *const upsert =
    "INSERT INTO field VALUES(1,?1,?2,?3,1,?4) ON CONFLICT DO UPDATE SET stamp=excluded.stamp, "
    "replica=excluded.replica, value=excluded.value WHERE (excluded.stamp, excluded.replica) > (stamp, replica)";

static void writeField(sqlite3_stmt *statement, const struct Item *item, int field, int64_t stamp) {
    sqlite3_bind_blob(statement, 1, item->id, idBytes, SQLITE_STATIC);
    sqlite3_bind_int(statement, 2, field);
    sqlite3_bind_int64(statement, 3, stamp);
    sqlite3_bind_text(statement, 4, item->values[field], item->lengths[field], SQLITE_STATIC);
    step(statement);
}

static void measureRows(const char *directory, uint32_t count) {
    struct Item *items = calloc(count, sizeof *items);
    for (uint32_t at = 0; at < count; at++) makeItem(&items[at], at);
    openStore(directory);
    sqlite3_stmt *statement = prepare(upsert), *begin = prepare("BEGIN IMMEDIATE"), *commit = prepare("COMMIT");
    const double start = secondsNow();
    for (uint32_t at = 0; at < count; at++) {
        if (at % itemsPerTransaction == 0) step(begin);
        for (int field = 0; field < fieldsPerItem; field++) writeField(statement, &items[at], field, (int64_t)at);
        if ((at + 1) % itemsPerTransaction == 0 || at + 1 == count) step(commit);
    }
    printf("{\"seconds\": %.6f, \"rows\": %u}\n", secondsNow() - start, count * fieldsPerItem);
}

static void measureCommits(const char *directory, int count) {
    double *seconds = calloc((size_t)count, sizeof *seconds);
    openStore(directory);
    sqlite3_stmt *statement = prepare(upsert);
    for (int at = -commitsToWarmUp; at < count; at++) {
        struct Item item;
        makeItem(&item, (uint32_t)(at + commitsToWarmUp));
        const double start = secondsNow();
        writeField(statement, &item, 0, at);
        if (at >= 0) seconds[at] = secondsNow() - start;
    }
    printTimes(seconds, count);
}

static void transfer(int socket, char *bytes, int sending) {
    for (ssize_t done = 0, now; done < echoBytes; done += now) {
        now = sending ? write(socket, bytes + done, (size_t)(echoBytes - done)) : read(socket, bytes + done, (size_t)(echoBytes - done));
        if (now <= 0) exit(sending ? 1 : 0);
    }
}

static void measureEcho(int count) {
    const int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    char bytes[echoBytes] = {0};
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1)) fail("listen on loopback");
    getsockname(listener, (struct sockaddr *)&address, &length);
    const pid_t child = fork();
    if (child == 0) {
        const int served = accept(listener, NULL, NULL);
        setsockopt(served, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        for (;;) transfer(served, bytes, 0), transfer(served, bytes, 1);
    }
    const int client = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(client, (struct sockaddr *)&address, length)) fail("connect on loopback");
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    double *seconds = calloc((size_t)count, sizeof *seconds);
    for (int at = 0; at < count; at++) {
        const double start = secondsNow();
        transfer(client, bytes, 1), transfer(client, bytes, 0);
        seconds[at] = secondsNow() - start;
    }
    close(client);
    waitpid(child, NULL, 0);
    printTimes(seconds, count);
}

int main(int argc, char **argv) {
    char path[4096];
    const int count = argc > 2 ? atoi(argv[argc - 1]) : 0;
    if (argc == 4 && count > 0 && strcmp(argv[1], "rows") == 0) measureRows(argv[2], (uint32_t)count);
    else if (argc == 4 && count > 0 && strcmp(argv[1], "commit") == 0) measureCommits(argv[2], count);
    else if (argc == 3 && count > 0 && strcmp(argv[1], "echo") == 0) measureEcho(count);
    else {
        fprintf(stderr, "usage: baseline rows DIRECTORY ITEMS | commit DIRECTORY COUNT | echo COUNT\n");
        return 64;
    }
    if (database) sqlite3_close_v2(database), removeStore(argv[2], path, sizeof path);
    return 0;
}
