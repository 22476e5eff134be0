// The candidate layouts that layouts.c measures.
#pragma once

enum Items { fieldRows, packedRows, compactRows, compactRowids, noItems };
enum Journal { noJournal, transformRows, segments };
enum Index { noIndex, maintained, sortedPerTransaction, builtAfterwards, hashedSorted };
enum Write { upsert, insertFirst, selectFirst, insertOrFail };

struct Layout {
    const char *name;
    enum Items items;
    enum Journal journal;
    enum Index index;
    enum Write write;
    int itemsPerTransaction, pageBytes, checkpointPages, cacheKibibytes, checkpointAtEnd;
};

static const struct Layout layouts[] = {
    {"raw loop: row per field", fieldRows, noJournal, noIndex, upsert, 1000, 4096, 1000, 2000, 0},
    {"raw loop, 2,500 a transaction", fieldRows, noJournal, noIndex, upsert, 2500, 4096, 1000, 2000, 0},
    {"raw loop, 16 MB cache, ckpt 8000", fieldRows, noJournal, noIndex, upsert, 2500, 4096, 8000, 16000, 0},
    // What is stored.
    {"field rows + transform rows", fieldRows, transformRows, noIndex, upsert, 2500, 4096, 1000, 2000, 0},
    {"field rows + segments", fieldRows, segments, noIndex, upsert, 2500, 4096, 1000, 2000, 0},
    {"packed + transform rows", packedRows, transformRows, noIndex, insertFirst, 2500, 4096, 1000, 2000, 0},
    {"packed + segments", packedRows, segments, noIndex, insertFirst, 2500, 4096, 1000, 2000, 0},
    {"compact + transform rows", compactRows, transformRows, noIndex, insertFirst, 2500, 4096, 1000, 2000, 0},
    {"compact + segments", compactRows, segments, noIndex, insertFirst, 2500, 4096, 1000, 2000, 0},
    {"compact, rowid + segments", compactRowids, segments, noIndex, insertFirst, 2500, 4096, 1000, 2000, 0},
    {"segments alone", noItems, segments, noIndex, insertFirst, 2500, 4096, 1000, 2000, 0},
    // How a row is written.
    {"compact + segments, select first", compactRows, segments, noIndex, selectFirst, 2500, 4096, 1000, 2000, 0},
    {"compact + segments, plain insert", compactRows, segments, noIndex, insertOrFail, 2500, 4096, 1000, 2000, 0},
    // Settings.
    {"compact + segments, page 8192", compactRows, segments, noIndex, insertFirst, 2500, 8192, 1000, 2000, 0},
    {"compact + segments, ckpt 8000", compactRows, segments, noIndex, insertFirst, 2500, 4096, 8000, 2000, 0},
    {"compact + segments, cache 16 MB", compactRows, segments, noIndex, insertFirst, 2500, 4096, 1000, 16000, 0},
    {"compact + segments, both", compactRows, segments, noIndex, insertFirst, 2500, 4096, 8000, 16000, 0},
    {"compact + segments, both, ckpt end", compactRows, segments, noIndex, insertFirst, 2500, 4096, 8000, 16000, 1},
    {"compact + segments, both, page 8192", compactRows, segments, noIndex, insertFirst, 2500, 8192, 8000, 16000, 0},
    {"compact + segments, both, 10,000/tx", compactRows, segments, noIndex, insertFirst, 10000, 4096, 8000, 16000, 0},
    {"packed + segments, both", packedRows, segments, noIndex, insertFirst, 2500, 4096, 8000, 16000, 0},
    // Finding an item by its barcode (with both settings).
    {"… barcode index maintained", compactRows, segments, maintained, insertFirst, 2500, 4096, 8000, 16000, 0},
    {"… sorted per transaction", compactRows, segments, sortedPerTransaction, insertFirst, 2500, 4096, 8000, 16000, 0},
    {"… 64-bit hash, sorted per tx", compactRows, segments, hashedSorted, insertFirst, 2500, 4096, 8000, 16000, 0},
    {"… built afterwards, sorted", compactRows, segments, builtAfterwards, insertFirst, 2500, 4096, 8000, 16000, 0},
    {"… barcode index, small cache", compactRows, segments, maintained, insertFirst, 2500, 4096, 1000, 2000, 0},
};
enum { layoutCount = sizeof layouts / sizeof layouts[0] };
