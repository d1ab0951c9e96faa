/// Whose rows of an app something is about: the app and the dialect.
package struct AppScope: Sendable, Hashable {
    package var app: AppID
    package var vendor: Vendor

    package init(app: AppID, vendor: Vendor) {
        self.app = app
        self.vendor = vendor
    }
}
