import Simulation

#if canImport(Glibc)
    import Glibc
#endif

// Runs seeds: `simulate --seeds 1000 --from 1 [--jobs 2]`, or shows one: `simulate --replay 17`.
// A line per failing seed; exit status 1 if there is one.
let options = Options(CommandLine.arguments.dropFirst())
let isSound = await run(options)
exit(isSound ? 0 : 1)
