"""Networks of Saihu: output-port networks (JSON) and physical networks (XML, the form of WOPANet and xTFA).

Saihu runs the worst-case analyses of xTFA, panco and NetCal/DNC on one file: flows with token buckets pass
servers with rate-latency curves (Tsai, Tabatabaee, Plassart, Le Boudec: Saihu, 2023).
"""
