package import Model

extension UPMCAdapter {
    /// The texts with this target's values in place of the placeholders. `EXT` stays in the data; the other keys control this dialect only.
    package func normalized(_ notification: Notification, for target: TargetFacts) throws(AdapterError)
        -> NormalizedContent
    {
        let reader = ShownMessage.Reader(
            user: target.person.user,
            name: target.person.name,
            variables: target.variables
        )
        let shown = ShownMessage(notification: notification, reader: reader, settings: UPMCSettings(.unbound))
        var content = notification.content
        content.title = shown.title
        content.body = shown.body
        content.isTemplate = false
        content.data = JSONObject()
        if !shown.extra.isEmpty { content.data[DataKey.extra] = .string(shown.extra) }
        var lost: Set<String> = []
        if content.page != nil { lost.insert("upmc.EXT") }
        return NormalizedContent(content, untranslated: lost)
    }
}
