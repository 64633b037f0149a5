"""The page of `modelplane report`: its assembly from the sources in `page`, and the server that shows it live."""
