enum LocalAPIModule {}
