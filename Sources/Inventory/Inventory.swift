enum InventoryModule {}
