package import Model
import PostgresClient

/// Encodes the content of a message as the JSON of its row. Only fields that are set are written.
package enum ContentCoding {
    private enum Key {
        static let title = "title"
        static let subtitle = "subtitle"
        static let body = "body"
        static let badge = "badge"
        static let badgeStep = "badgeStep"
        static let isTemplate = "template"
        static let pageID = "pageId"
        static let pageName = "pageName"
        static let sound = "sound"
        static let category = "category"
        static let thread = "thread"
        static let data = "data"
        static let mediaID = "mediaId"
        static let mediaHash = "mediaHash"
        static let isUrgent = "urgent"
        static let isSilent = "silent"
        static let raw = "raw"
        static let apns = "apns"
        static let activity = "activity"
        static let activityKind = "activityKind"
        static let variants = "variants"
        static let consent = "consent"
        static let assurance = "minAssurance"
        static let campaign = "campaign"
        static let campaignVariant = "campaignVariant"
        static let trace = "trace"
    }

    /// The place in a sampled trace that is kept with a message. Nil: none.
    package static func trace(in object: JSONObject) -> TraceContext? {
        object[Key.trace]?.string.flatMap { TraceContext(stored: $0) }
    }

    /// The JSON of `content`, and of the message's place in a sampled trace.
    package static func encode(_ content: Content, trace: TraceContext? = nil) -> JSON {
        var object = JSONObject()
        object[Key.title] = content.title.map(JSON.string)
        object[Key.subtitle] = content.subtitle.map(JSON.string)
        object[Key.body] = .string(content.body)
        object[Key.badge] = content.badge.map { JSON.int($0) }
        object[Key.badgeStep] = content.badgeStep.map { JSON.int($0) }
        object[Key.sound] = content.sound.map(JSON.string)
        object[Key.category] = content.category.map(JSON.string)
        object[Key.thread] = content.threadID.map(JSON.string)
        if !content.data.isEmpty { object[Key.data] = .object(content.data) }
        object[Key.mediaID] = content.media.map { .string($0.id) }
        object[Key.mediaHash] = content.media.map { .string($0.hash) }
        if content.isUrgent { object[Key.isUrgent] = true }
        if content.isSilent { object[Key.isSilent] = true }
        object[Key.raw] = content.raw
        object[Key.apns] = content.apns.map { .object($0) }
        object[Key.activity] = content.activity.map { .string($0.name) }
        object[Key.activityKind] = content.activity.map { .string($0.kind.rawValue) }
        if content.isTemplate { object[Key.isTemplate] = true }
        object[Key.variants] = content.variants.map(\.json)
        if content.consent != .subscribed { object[Key.consent] = .string(content.consent.rawValue) }
        if content.minAssurance != .claimed { object[Key.assurance] = .string(content.minAssurance.rawValue) }
        object[Key.campaign] = content.campaign.map(JSON.string)
        object[Key.campaignVariant] = content.campaignVariant.map(JSON.string)
        object[Key.pageID] = content.page.map { .string($0.id) }
        object[Key.pageName] = content.page.map { .string($0.name) }
        object[Key.trace] = trace.map { .string($0.stored) }
        return .object(object)
    }

    /// Decodes the content. Missing fields have the defaults of `Content`.
    package static func decode(_ object: JSONObject) -> Content {
        var content = Content(
            title: object[Key.title]?.string,
            subtitle: object[Key.subtitle]?.string,
            body: object[Key.body]?.string ?? "",
            badge: object[Key.badge]?.int.map { Int($0) },
            sound: object[Key.sound]?.string,
            category: object[Key.category]?.string,
            threadID: object[Key.thread]?.string,
            data: object[Key.data]?.object ?? JSONObject(),
            media: media(object),
            isUrgent: object[Key.isUrgent]?.bool ?? false,
            isSilent: object[Key.isSilent]?.bool ?? false,
            raw: object[Key.raw]
        )
        content.apns = object[Key.apns]?.object
        content.activity = activity(object)
        content.badgeStep = object[Key.badgeStep]?.int.map { Int($0) }
        content.isTemplate = object[Key.isTemplate]?.bool ?? false
        content.page = page(object)
        content.variants = object[Key.variants].flatMap { TagTerms($0) }
        content.consent = object[Key.consent]?.string.flatMap(ConsentRule.init) ?? .subscribed
        content.minAssurance = object[Key.assurance]?.string.flatMap(Assurance.init) ?? .claimed
        content.campaign = object[Key.campaign]?.string
        content.campaignVariant = object[Key.campaignVariant]?.string
        return content
    }

    private static func activity(_ object: JSONObject) -> ActivityReference? {
        guard let name = object[Key.activity]?.string,
            let kind = object[Key.activityKind]?.string.flatMap({ ActivityReference.Kind(rawValue: $0) })
        else { return nil }
        return ActivityReference(kind, name)
    }

    private static func page(_ object: JSONObject) -> PageReference? {
        guard let id = object[Key.pageID]?.string, let name = object[Key.pageName]?.string else { return nil }
        return PageReference(id: id, name: name)
    }

    private static func media(_ object: JSONObject) -> MediaReference? {
        guard let id = object[Key.mediaID]?.string, let hash = object[Key.mediaHash]?.string else { return nil }
        return MediaReference(id: id, hash: hash)
    }
}
