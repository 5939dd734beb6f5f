"""What logs of clocks say besides the lines of linuxptp: causes, and the logs of chronyd."""
