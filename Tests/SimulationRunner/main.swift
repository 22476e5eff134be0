import Simulation

#if canImport(Glibc)
    import Glibc
#endif

// Runs seeds: `simulate --seeds 1000 --from 1 [--jobs 2]`, or shows one: `simulate --replay 17 [--verbose]`.
// A line per failing seed, with the shortest history found; exit status 1 if there is one.
let options = Options(CommandLine.arguments.dropFirst())
if options.isOfEngine {
    let isSound = await runEngine(options)
    exit(isSound ? 0 : 1)
}
if let seed = options.replay {
    let isSound = try await replay(seed, options)
    exit(isSound ? 0 : 1)
}
let result = try await runAll(options)
exit(result ? 0 : 1)
