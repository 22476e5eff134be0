enum StorageModule {}
