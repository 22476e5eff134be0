KNOWN, MEANT = {}, {}
