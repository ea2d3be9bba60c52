"""What people see in MLflow: pages, rows, views and charts, as plain values; nothing here knows MLflow itself."""
