import Foundation

/// What libFuzzer calls with bytes that nobody has chosen (https://llvm.org/docs/LibFuzzer.html). Each decoder has to end in a value or
/// in an error; what it has taken has to come back as it was when it is encoded and decoded once more. `MUSTER_FUZZ` names the decoder.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    decoder(Array(UnsafeBufferPointer(start: data, count: count)))
    return 0
}

private typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<Arguments>,
    _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// What SwiftPM makes the program's `main`; libFuzzer's own would be a second one. With `MUSTER_FUZZ_SEEDS` it only prints inputs that the
/// decoder takes, one a line in base64: no chance finds a certificate.
@_cdecl("fuzz_main")
func fuzzMain(_ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CInt {
    if ProcessInfo.processInfo.environment["MUSTER_FUZZ_SEEDS"] != nil {
        for seed in Seeds.all(for: decoderName) { print(Data(seed).base64EncodedString()) }
        return 0
    }
    var (count, arguments) = (count, arguments)
    return runDriver(&count, &arguments) { testOneInput($0, $1) }
}

private let decoderName = ProcessInfo.processInfo.environment["MUSTER_FUZZ"] ?? ""

private let decoder: Decoder = {
    guard let found = decoders[decoderName] else { fatalError("MUSTER_FUZZ is one of \(decoders.keys.sorted())") }
    return found
}()
