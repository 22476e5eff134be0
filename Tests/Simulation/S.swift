enum SimulationModule {}
