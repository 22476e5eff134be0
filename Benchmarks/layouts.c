// Which layout of items and journals makes an empty laptop's catch-up cheap? Writes the same 100,000 items of six
// fields in each candidate layout and prints the time beside the plain loop of a row per field, taken in turn in the
// same run. The figures stand in README.md beside this file.
//
// cc -O2 -o layouts layouts.c -lsqlite3 && ./layouts DIRECTORY [ITEMS] [ROUNDS]

#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "items.h"
#include "layouts.h"

struct Measured {
    double seconds, editMicroseconds, readSeconds;
    double megabytes;
};

static uint32_t itemCount = 100000;
static struct Item *items;
static sqlite3 *database;
static const char *path;

static void fail(const char *what) {
    fprintf(stderr, "layouts: %s: %s\n", what, database ? sqlite3_errmsg(database) : "no database");
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

// Packed: each register with its own stamp, replica and replaced stamp. Compact: registers written by one change
// share them, which is what a scanned or imported item looks like.
static int pack(uint8_t *into, const struct Item *item, uint64_t stamp, int compact) {
    uint8_t *at = into;
    const uint64_t replaced = 0;
    if (compact) {
        memcpy(at, &stamp, 8), at += 8;
        *at++ = 1, *at++ = fieldsPerItem;
    }
    for (int field = 0; field < fieldsPerItem; field++) {
        *at++ = (uint8_t)field;
        if (!compact) {
            memcpy(at, &stamp, 8), memcpy(at + 8, &replaced, 8), at += 16;
            *at++ = 1, *at++ = 0;
        }
        *at++ = item->lengths[field];
        memcpy(at, item->values[field], item->lengths[field]), at += item->lengths[field];
    }
    return (int)(at - into);
}

static uint64_t hashOf(const char *text, int length) {
    uint64_t hash = 0xcbf29ce484222325;
    for (int at = 0; at < length; at++) hash = (hash ^ (uint8_t)text[at]) * 0x100000001b3;
    return hash;
}

static int byBarcode(const void *left, const void *right) {
    return strcmp((*(struct Item *const *)left)->values[0], (*(struct Item *const *)right)->values[0]);
}
static int byHash(const void *left, const void *right) {
    const struct Item *l = *(struct Item *const *)left, *r = *(struct Item *const *)right;
    const int64_t a = (int64_t)hashOf(l->values[0], 13), b = (int64_t)hashOf(r->values[0], 13);
    return (a > b) - (a < b);
}

struct Statements {
    sqlite3_stmt *begin, *commit, *item, *select, *update, *transform, *segment, *barcode;
};

static struct Statements openStore(const struct Layout *layout) {
    char name[512];
    unlink(path);
    snprintf(name, sizeof name, "%s-wal", path), unlink(name);
    snprintf(name, sizeof name, "%s-shm", path), unlink(name);
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL)) fail(path);
    snprintf(
        name, sizeof name,
        "PRAGMA page_size=%d; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=%d; "
        "PRAGMA cache_size=-%d;",
        layout->pageBytes, layout->checkpointPages, layout->cacheKibibytes);
    run(name);
    run("CREATE TABLE field(job INTEGER, item BLOB, field INTEGER, stamp INTEGER, replica INTEGER, value TEXT, "
        "PRIMARY KEY(job, item, field)) WITHOUT ROWID;"
        "CREATE TABLE item(job INTEGER, id BLOB, registers BLOB, PRIMARY KEY(job, id)) WITHOUT ROWID;"
        "CREATE TABLE itemrow(number INTEGER PRIMARY KEY, job INTEGER, id BLOB, registers BLOB, UNIQUE(job, id));"
        "CREATE TABLE transform(replica INTEGER, sequence INTEGER, stamp INTEGER, item BLOB, field INTEGER, value TEXT, "
        "PRIMARY KEY(replica, sequence)) WITHOUT ROWID;"
        "CREATE TABLE segment(replica INTEGER, first INTEGER, last INTEGER, bytes BLOB, PRIMARY KEY(replica, first)) WITHOUT ROWID;"
        "CREATE TABLE barcode(job INTEGER, barcode, item BLOB, PRIMARY KEY(job, barcode, item)) WITHOUT ROWID;");
    struct Statements all = {.begin = prepare("BEGIN IMMEDIATE"), .commit = prepare("COMMIT")};
    const int rowids = layout->items == compactRowids;
    if (layout->items == fieldRows)
        all.item = prepare("INSERT INTO field VALUES(1,?1,?2,?3,?4,?5) ON CONFLICT DO UPDATE SET stamp=excluded.stamp, "
                           "replica=excluded.replica, value=excluded.value "
                           "WHERE (excluded.stamp, excluded.replica) > (stamp, replica)");
    else if (layout->write == insertFirst)
        all.item = prepare(rowids ? "INSERT INTO itemrow(job,id,registers) VALUES(1,?1,?2) ON CONFLICT DO NOTHING"
                                  : "INSERT INTO item VALUES(1,?1,?2) ON CONFLICT DO NOTHING");
    else
        all.item = prepare("INSERT INTO item VALUES(1,?1,?2)");
    all.select = prepare(rowids ? "SELECT registers FROM itemrow WHERE job=1 AND id=?1"
                                : "SELECT registers FROM item WHERE job=1 AND id=?1");
    all.update = prepare(rowids ? "UPDATE itemrow SET registers=?2 WHERE job=1 AND id=?1"
                                : "UPDATE item SET registers=?2 WHERE job=1 AND id=?1");
    all.transform = prepare("INSERT INTO transform VALUES(1,?1,?2,?3,?4,?5)");
    all.segment = prepare("INSERT INTO segment VALUES(1,?1,?2,?3)");
    all.barcode = prepare("INSERT INTO barcode VALUES(1,?1,?2)");
    return all;
}

static void closeStore(struct Statements all) {
    sqlite3_stmt *const statements[] = {all.begin, all.commit, all.item, all.select, all.update, all.transform, all.segment, all.barcode};
    for (int at = 0; at < 8; at++) sqlite3_finalize(statements[at]);
    sqlite3_close(database);
}

static void writeFields(const struct Statements *all, const struct Item *item, uint64_t stamp) {
    for (int field = 0; field < fieldsPerItem; field++) {
        sqlite3_bind_blob(all->item, 1, item->id, idBytes, SQLITE_STATIC);
        sqlite3_bind_int(all->item, 2, field);
        sqlite3_bind_int64(all->item, 3, (int64_t)stamp);
        sqlite3_bind_int(all->item, 4, 1);
        sqlite3_bind_text(all->item, 5, item->values[field], item->lengths[field], SQLITE_STATIC);
        step(all->item);
    }
}

static void writeRegisters(const struct Statements *all, const struct Layout *layout, const struct Item *item, uint64_t stamp) {
    uint8_t registers[512];
    const int length = pack(registers, item, stamp, layout->items != packedRows);
    if (layout->write == selectFirst) {
        sqlite3_bind_blob(all->select, 1, item->id, idBytes, SQLITE_STATIC);
        if (sqlite3_step(all->select) == SQLITE_ROW) fail("an item is there twice");
        sqlite3_reset(all->select);
    }
    sqlite3_bind_blob(all->item, 1, item->id, idBytes, SQLITE_STATIC);
    sqlite3_bind_blob(all->item, 2, registers, length, SQLITE_STATIC);
    step(all->item);
    if (layout->write == insertFirst && sqlite3_changes(database) != 1) fail("an item is there twice");
}

static void writeTransforms(const struct Statements *all, const struct Item *item, uint64_t first, uint64_t stamp) {
    for (int field = 0; field < fieldsPerItem; field++) {
        sqlite3_bind_int64(all->transform, 1, (int64_t)first + field);
        sqlite3_bind_int64(all->transform, 2, (int64_t)stamp);
        sqlite3_bind_blob(all->transform, 3, item->id, idBytes, SQLITE_STATIC);
        sqlite3_bind_int(all->transform, 4, field);
        sqlite3_bind_text(all->transform, 5, item->values[field], item->lengths[field], SQLITE_STATIC);
        step(all->transform);
    }
}

// A segment as it came from the wire: about 105 bytes an item, which is 17.5 bytes a transform.
static void writeSegment(const struct Statements *all, uint32_t first, uint32_t count) {
    static uint8_t bytes[4 << 20];
    const int length = (int)count * 105;
    memcpy(bytes, &first, sizeof first);
    sqlite3_bind_int64(all->segment, 1, (int64_t)first * fieldsPerItem + 1);
    sqlite3_bind_int64(all->segment, 2, (int64_t)(first + count) * fieldsPerItem);
    sqlite3_bind_blob(all->segment, 3, bytes, length, SQLITE_STATIC);
    step(all->segment);
}

static void writeBarcode(const struct Statements *all, const struct Item *item, int hashed) {
    if (hashed) sqlite3_bind_int64(all->barcode, 1, (int64_t)hashOf(item->values[0], item->lengths[0]));
    else sqlite3_bind_text(all->barcode, 1, item->values[0], item->lengths[0], SQLITE_STATIC);
    sqlite3_bind_blob(all->barcode, 2, item->id, idBytes, SQLITE_STATIC);
    step(all->barcode);
}

static void writeBarcodes(const struct Statements *all, enum Index index, uint32_t first, uint32_t count) {
    static struct Item *order[100000];
    for (uint32_t at = 0; at < count; at++) order[at] = &items[first + at];
    if (index != maintained) qsort(order, count, sizeof order[0], index == hashedSorted ? byHash : byBarcode);
    for (uint32_t at = 0; at < count; at++) writeBarcode(all, order[at], index == hashedSorted);
}

static double catchUp(const struct Statements *all, const struct Layout *layout) {
    const double start = secondsNow();
    for (uint32_t first = 0; first < itemCount; first += (uint32_t)layout->itemsPerTransaction) {
        uint32_t count = (uint32_t)layout->itemsPerTransaction;
        if (count > itemCount - first) count = itemCount - first;
        step(all->begin);
        for (uint32_t at = first; at < first + count; at++) {
            const uint64_t stamp = 0x019a000000000000ull + at;
            if (layout->items == fieldRows) writeFields(all, &items[at], stamp);
            else if (layout->items != noItems) writeRegisters(all, layout, &items[at], stamp);
            if (layout->journal == transformRows) writeTransforms(all, &items[at], (uint64_t)at * fieldsPerItem + 1, stamp);
        }
        if (layout->journal == segments)
            for (uint32_t at = first; at < first + count; at += 2500)
                writeSegment(all, at, first + count - at < 2500 ? first + count - at : 2500);
        if (layout->index != noIndex && layout->index != builtAfterwards) writeBarcodes(all, layout->index, first, count);
        step(all->commit);
    }
    if (layout->index == builtAfterwards) {
        step(all->begin);
        writeBarcodes(all, builtAfterwards, 0, itemCount);
        step(all->commit);
    }
    if (layout->checkpointAtEnd) run("PRAGMA wal_checkpoint(PASSIVE)");
    return secondsNow() - start;
}

static int ascending(const void *left, const void *right) {
    const double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}

// The median time, in microseconds, of one field's edit in a transaction of its own.
static double editOne(const struct Statements *all, const struct Layout *layout) {
    enum { edits = 200 };
    double times[edits];
    uint64_t state = 7;
    for (uint32_t edit = 0; edit < edits; edit++) {
        struct Item *item = &items[nextRandom(&state) % itemCount];
        const uint64_t stamp = 0x019b000000000000ull + edit;
        const double start = secondsNow();
        step(all->begin);
        if (layout->items == fieldRows) {
            sqlite3_bind_blob(all->item, 1, item->id, idBytes, SQLITE_STATIC);
            sqlite3_bind_int(all->item, 2, 3);
            sqlite3_bind_int64(all->item, 3, (int64_t)stamp);
            sqlite3_bind_text(all->item, 5, item->values[3], item->lengths[3], SQLITE_STATIC);
            step(all->item);
        } else if (layout->items != noItems) {
            uint8_t registers[512];
            sqlite3_bind_blob(all->select, 1, item->id, idBytes, SQLITE_STATIC);
            if (sqlite3_step(all->select) != SQLITE_ROW) fail("an item is missing");
            sqlite3_reset(all->select);
            const int length = pack(registers, item, stamp, layout->items != packedRows);
            sqlite3_bind_blob(all->update, 1, item->id, idBytes, SQLITE_STATIC);
            sqlite3_bind_blob(all->update, 2, registers, length, SQLITE_STATIC);
            step(all->update);
        }
        if (layout->journal == transformRows) {
            sqlite3_bind_int64(all->transform, 1, (int64_t)itemCount * fieldsPerItem + 1 + edit);
            sqlite3_bind_blob(all->transform, 3, item->id, idBytes, SQLITE_STATIC);
            step(all->transform);
        } else if (layout->journal == segments) {
            sqlite3_bind_int64(all->segment, 1, (int64_t)itemCount * fieldsPerItem + 1 + edit);
            sqlite3_bind_int64(all->segment, 2, (int64_t)itemCount * fieldsPerItem + 1 + edit);
            sqlite3_bind_blob(all->segment, 3, item->id, idBytes, SQLITE_STATIC);
            step(all->segment);
        }
        step(all->commit);
        times[edit] = secondsNow() - start;
    }
    qsort(times, edits, sizeof times[0], ascending);
    return times[edits / 2] * 1e6;
}

// The time to read every item once in order of id, as an export or a list does.
static double readAll(const struct Layout *layout) {
    const char *const sql = layout->items == fieldRows ? "SELECT item, field, value FROM field WHERE job=1 ORDER BY item, field"
        : layout->items == compactRowids ? "SELECT id, registers FROM itemrow WHERE job=1 ORDER BY id"
        : layout->items == noItems ? "SELECT first, bytes FROM segment WHERE replica=1 ORDER BY first"
                                   : "SELECT id, registers FROM item WHERE job=1 ORDER BY id";
    const double start = secondsNow();
    sqlite3_stmt *statement = prepare(sql);
    volatile uint8_t seen = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const uint8_t *bytes = sqlite3_column_blob(statement, 1);
        if (bytes) seen ^= bytes[0];
    }
    sqlite3_finalize(statement);
    return secondsNow() - start;
}

static struct Measured measure(const struct Layout *layout) {
    struct Measured measured;
    struct stat information;
    const struct Statements all = openStore(layout);
    measured.seconds = catchUp(&all, layout);
    measured.editMicroseconds = editOne(&all, layout);
    measured.readSeconds = readAll(layout);
    run("PRAGMA wal_checkpoint(TRUNCATE)");
    closeStore(all);
    measured.megabytes = stat(path, &information) == 0 ? (double)information.st_size / 1e6 : 0;
    unlink(path);
    return measured;
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof values[0], ascending);
    return values[count / 2];
}

int main(int argc, char **argv) {
    char file[512];
    if (argc < 2) {
        fprintf(stderr, "usage: layouts DIRECTORY [ITEMS] [ROUNDS]\n");
        return 64;
    }
    if (argc > 2) itemCount = (uint32_t)atoi(argv[2]);
    if (itemCount < 1 || itemCount > 100000) itemCount = 100000;
    const int rounds = argc > 3 && atoi(argv[3]) > 0 && atoi(argv[3]) < 50 ? atoi(argv[3]) : 5;
    snprintf(file, sizeof file, "%s/layouts.sqlite", argv[1]);
    path = file;
    items = calloc(itemCount, sizeof *items);
    for (uint32_t index = 0; index < itemCount; index++) makeItem(&items[index], index);

    // Rounds go through all layouts in turn, so that a busy minute of the machine hits all of them.
    static struct Measured results[layoutCount][50];
    for (int round = 0; round < rounds; round++)
        for (int at = 0; at < layoutCount; at++) results[at][round] = measure(&layouts[at]);

    printf("%u items of %d fields, SQLite %s, median of %d rounds\n", itemCount, fieldsPerItem, sqlite3_libversion(), rounds);
    printf("%-36s %6s %6s %6s %7s %7s %6s\n", "layout", "s", "best", "ratio", "edit us", "read ms", "MB");
    double base = 0;
    for (int at = 0; at < layoutCount; at++) {
        double seconds[50], edits[50], reads[50];
        for (int round = 0; round < rounds; round++) {
            seconds[round] = results[at][round].seconds;
            edits[round] = results[at][round].editMicroseconds;
            reads[round] = results[at][round].readSeconds * 1000;
        }
        const double middle = median(seconds, rounds);
        if (at == 0) base = middle;
        printf("%-36s %6.3f %6.3f %6.2f %7.0f %7.1f %6.1f\n", layouts[at].name, middle, seconds[0], middle / base,
               median(edits, rounds), median(reads, rounds), results[at][0].megabytes);
    }
    return 0;
}
