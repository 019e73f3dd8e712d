"""The small networks that several systems and judges share; each module is one of them."""
