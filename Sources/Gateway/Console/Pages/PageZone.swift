import Model
import PageParts

/// The time zone in which a page shows times: that of its address, or of the form that was sent from it; else that of its app; else UTC.
enum PageZone {
    /// A zone that exists.
    static func known(_ text: String?) -> String? { text.flatMap { TimeZoneName($0)?.text } }

    /// The zone of the address.
    static func named(_ page: PageRequest) -> String? { known(page.value("zone")) }

    /// The zone of the app that the page is about: that of its path or its query, else the only one of the tenant.
    ///
    /// - Parameters:
    ///   - page: the request.
    ///   - apps: the apps of the native API's answer.
    /// - Returns: nil: the page is not about one app, or the app has no zone.
    static func ofApp(_ page: PageRequest, _ apps: [JSON]) -> String? {
        let name = page.path["app"] ?? page.value("app")
        let app = apps.first { name == nil ? apps.count == 1 : $0["app"]?.string == name }
        return known(app?["timeZone"]?.string)
    }
}
