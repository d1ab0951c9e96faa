/// The content of a message as any dialect can show it: templates are filled in for one target, and no field is in the format of one push service.
package struct NormalizedContent: Sendable, Hashable {
    package var content: Content
    /// The parts of the message that are lost in another dialect, each once, in order: `braze.loc-key`.
    package var untranslated: [String]

    package init(_ content: Content, untranslated: Set<String> = []) {
        self.content = content
        self.untranslated = untranslated.sorted()
    }

    /// The entries of `PushPayload.reduced` about the lost parts.
    package var reduced: [String] { untranslated.map { "untranslated:\($0)" } }
}

extension Notification {
    /// Whether the message of one vendor is sent to an identity of another. Messages of the native API are written by each dialect as they are.
    package func crosses(to target: TargetFacts) -> Bool {
        origin != .native && origin != target.vendor && content.activity == nil
    }

    /// The message as the dialect of `target` writes it.
    ///
    /// - Parameters:
    ///   - target: the addressee.
    ///   - source: the adapter of the message's own dialect; nil: there is none.
    /// - Returns: the message, and further entries of `PushPayload.reduced`.
    /// - Throws: `AdapterError` with code `.withheld` when the message itself excludes this target, `.tooLarge`.
    package func translated(
        for target: TargetFacts,
        by source: (any VendorAdapter)?
    ) throws(AdapterError) -> (Notification, reduced: [String]) {
        guard crosses(to: target), let source else { return (self, []) }
        let normalized = try source.normalized(self, for: target)
        var translated = self
        translated.content = normalized.content
        return (translated, normalized.reduced)
    }
}
