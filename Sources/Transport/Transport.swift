enum TransportModule {}
