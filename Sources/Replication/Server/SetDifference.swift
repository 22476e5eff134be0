/// Two sides' things of one kind, compared by identity: the one place that says what the three cases are.
///
/// Jobs and their journals go through it, and any later kind that has an identity.
package enum SetDifference<Here, There> {
    /// Both have it: they may differ, and what it is decides how they meet.
    case both(Here, There)
    /// It came to be elsewhere, or this device has lost it: it is fetched.
    case onlyServer(There)
    /// It came to be here, or the server has lost it: it is brought. Nobody concludes that it was deleted; what is
    /// deleted says so itself (rule R2).
    case onlyHere(Here)
}

extension SetDifference: Sendable where Here: Sendable, There: Sendable {}

/// In order of the identities.
package func reconcile<Identity: Hashable & Comparable, Here, There>(
    here: [Identity: Here], server: [Identity: There]
) -> [(Identity, SetDifference<Here, There>)] {
    Set(here.keys).union(server.keys).sorted().compactMap { identity in
        switch (here[identity], server[identity]) {
        case (let mine?, let theirs?): (identity, .both(mine, theirs))
        case (nil, let theirs?): (identity, .onlyServer(theirs))
        case (let mine?, nil): (identity, .onlyHere(mine))
        case (nil, nil): nil
        }
    }
}
