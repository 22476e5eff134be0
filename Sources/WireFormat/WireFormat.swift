enum WireFormatModule {}
