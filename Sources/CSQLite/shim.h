// sqlite3_config(3) takes a variable number of arguments, with which Swift calls nothing.
#include <sqlite3.h>

// What a statement or a savepoint may have to put back is kept in memory up to so many bytes, and in a file beyond.
static inline int sqlite3_config_statement_journal_spill(int bytes) {
    return sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, bytes);
}
