"""What writes into MLflow and asks it; every import of MLflow is here."""
