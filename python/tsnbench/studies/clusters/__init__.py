"""Workers on other machines: scripts for SLURM and Kubernetes, and runs on a Dask cluster."""
