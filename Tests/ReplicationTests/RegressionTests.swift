import Simulation
import Testing

/// Histories that once broke a rule, and what each showed. They mean what they meant as long as the planner draws as it does.
@Suite("Histories that once went wrong", .timeLimit(.minutes(5)))
struct RegressionTests {
    @Test(
        arguments: [
            (100_292, "a request of a removed job waited for ever for one that had gone with the job"),
            (101_419, "the same beside a sign-off"),
            (101_336, "an answer about a removed job was never enough, since its word had gone with the job"),
            (101_530, "the same on two laptops"),
            (100_176, "a request that was asked for again stood behind what follows it, and the lane for ever"),
            (200_864, "what had gone with its job came to the office once more, and was taken for a fork"),
            (201_030, "an office that was set back was asked to settle a fork before it had its words again"),
            (231_573, "an office that had been set back wrote into its channel what a fork lost"),
            (9_412_321, "the same by a removal that made it do so"),
            (224_622, "late work of 300 authors could not be accepted at once"),
            (610_514, "what was decided about a change counted for another that took its place when journals parted"),
            (611_381, "the office never got a branch of a removed job, whose laptop began before what had gone"),
            (607_277, "the same where both branches were of one length"),
            (701_268, "late work that was taken over before the time was known got new stamps, and was another's then"),
            (916_307, "what the server and a peer brought at one time was told to nobody else"),
            (2_016_525, "nobody sent a request that the office had written again into its channel"),
            (4_013_883, "who fell asleep twice got a link's messages out of order: the simulation's fault"),
            (9_605_488, "after a boot the time went on from the floor, though not far from it: the simulation's fault"),
            (101_221, "who accepts late work of the job itself has seen it"),
        ] as [(UInt64, String)])
    func holdsNow(seed: UInt64, story: String) async throws {
        let outcome = try await Simulation.run(seed: seed)
        #expect(outcome.violation == nil, "seed \(seed), in which \(story)")
    }
}
