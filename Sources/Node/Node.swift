enum NodeModule {}
