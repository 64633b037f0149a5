"""The hardware of a cluster that exists, as nodes and drivers publish it, and its description in classes and pools."""
