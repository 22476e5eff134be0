/// The version of the programs.
package enum MusterVersion {
    /// Of this build (Semantic Versioning 2.0.0): what each program says with `--version`.
    package static let current = "0.1.0"
}
