import Braze
import IPNS
package import Model
import NotificationHubs
import RationalOwl
import UPMC

/// The vendors of the product. `docs/adding-a-vendor.md` says how to add one.
package enum Vendors {
    package static let all: [any VendorAdapter] = [
        // One line for each vendor.
        RationalOwlAdapter(),
        IPNSAdapter(),
        UPMCAdapter(),
        HubsAdapter(),
        BrazeAdapter(),
    ]
}
