import HTTPCoding
import Hummingbird
import Inventory
import LocalAPI

/// Refuses what a path does not take in its query: a filter that is misspelt must not look like one that everything fits.
enum QueryCheck {
    /// - Parameter names: what the path takes.
    static func check(_ request: Request, taking names: [String]) throws(APIError) {
        guard let parameters = QueryParameters(request.uri.query) else {
            throw APIError(.invalidRequest, "The query is not valid percent-encoded UTF-8: encode it as RFC 3986 says.")
        }
        for parameter in parameters.all {
            guard names.contains(parameter.name) else { throw unknown(parameter.name, among: names) }
            guard parameter.name == Route.repeatedParameter || parameters.values(of: parameter.name).count == 1 else {
                throw APIError(.invalidRequest, "'\(parameter.name)' is given twice: give it once.")
            }
        }
    }

    private static func unknown(_ name: String, among names: [String]) -> APIError {
        let remedy =
            if let nearest = NearestName.of(name, among: names) { "did you mean '\(nearest)'?" } else if names.isEmpty {
                "leave it out."
            } else { "it takes \(names.joined(separator: ", "))." }
        return APIError(.invalidRequest, "'\(name)' is no parameter of this path: \(remedy)")
    }
}
