/// Why something about keys and certificates was not done, in words for people.
package protocol IdentityFault: Error {
    /// What is wrong and what to do.
    var sentence: String { get }
}
