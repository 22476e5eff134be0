// The items that every measurement writes: the same 100,000 on every machine and in every run.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { fieldsPerItem = 6, idBytes = 16 };

// One item: a UUIDv7 and six short values, as a household inventory has them.
struct Item {
    uint8_t id[idBytes];
    uint8_t lengths[fieldsPerItem];
    char values[fieldsPerItem][32];
};

// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
static inline uint64_t nextRandom(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

// Item number `index`. Ids follow time, 40 ms apart; barcodes come in no order, as labels on a roll do not
// follow the order of the rooms.
static inline void makeItem(struct Item *item, uint32_t index) {
    static const char *const categories[8] = {
        "carton-small", "carton-large", "sofa-3-seats", "dining-chair", "wardrobe-box", "lamp-table-s",
        "mattress-qun", "desk-student"};
    static const char *const rooms[6] = {"Living room", "Dining room", "Bedroom one", "Guest rooms", "Garage left", "Attic right"};
    static const char *const conditions[4] = {"good", "used", "worn", "torn"};
    uint64_t state = 0x6d757374ull + index;
    const uint64_t milliseconds = 1760000000000ull + 40ull * index;
    const uint64_t random = nextRandom(&state), low = nextRandom(&state);
    for (int byte = 0; byte < 6; byte++) item->id[byte] = (uint8_t)(milliseconds >> (40 - 8 * byte));
    item->id[6] = (uint8_t)(0x70 | (random & 0x0f));
    item->id[7] = (uint8_t)(random >> 8);
    memcpy(item->id + 8, &low, 8);
    item->id[8] = (uint8_t)(0x80 | (item->id[8] & 0x3f));

    // Multiplying by an odd number permutes the barcodes of all items.
    const uint64_t barcode = 2000000000000ull + ((uint64_t)index * 2654435761ull) % 99999999977ull;
    snprintf(item->values[0], 32, "%013llu", (unsigned long long)barcode);
    snprintf(item->values[1], 32, "%s", categories[random >> 16 & 7]);
    snprintf(item->values[2], 32, "Numbered item %06u", index);
    snprintf(item->values[3], 32, "%s", rooms[(random >> 20 & 0xff) % 6]);
    snprintf(item->values[4], 32, "1");
    snprintf(item->values[5], 32, "%s", conditions[random >> 28 & 3]);
    for (int field = 0; field < fieldsPerItem; field++) item->lengths[field] = (uint8_t)strlen(item->values[field]);
}

static inline double secondsNow(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
