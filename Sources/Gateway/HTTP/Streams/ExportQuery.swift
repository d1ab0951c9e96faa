package import Model

/// The properties of an export to which the cursors of its lines belong: its kind, its filters and the beginning of its range. The end may move, because it
/// is now by default.
package struct ExportQuery: Sendable {
    package static let noCursor = Problem.invalid("after", "must be the cursor of a line")
    private let digest: String

    package init(
        _ kind: String,
        _ app: AppID?,
        _ vendor: Vendor?,
        from: Timestamp?,
        _ identifiers: any IdentifierSource
    ) {
        digest = QueryDigest.text(
            [kind, app?.rawValue, vendor?.rawValue, from.map { "\($0.milliseconds)" }],
            identifiers
        )
    }

    /// The cursor of a line at a position.
    package func cursor(_ position: String) -> String { "\(position).\(digest)" }

    /// The position of a cursor; nil: there is none. A cursor without a digest is a position, as nodes of the previous version return it while nodes are
    /// updated one by one; the next version refuses it.
    ///
    /// - Throws: `Problem` when the cursor belongs to another query.
    package func position(_ cursor: String?) throws(Problem) -> String? {
        guard let cursor else { return nil }
        let parts = cursor.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count == 1 { return cursor }
        guard parts.count == 2 else { throw Self.noCursor }
        guard parts[1] == digest else {
            throw .invalid(
                "after",
                "belongs to another export: `app`, `vendor` and `from` must be those of the call that returned the cursor"
            )
        }
        return String(parts[0])
    }
}
