/// An app and a dialect, which together own rows.
package struct AppScope: Sendable, Hashable {
    package var app: AppID
    package var vendor: Vendor

    package init(app: AppID, vendor: Vendor) {
        self.app = app
        self.vendor = vendor
    }
}
