package import PageParts

/// The pages of the sidebar's section Administration, in its order. A page that is reached by links follows the one that leads to it.
package enum AdministrationPages {
    package static let all: [any ConsolePage] = [
        ApprovalsPage(),
        AccountsPage(),
        KeysPage(),
        KeyPage(),
        AuditPage(),
        PosturePage(),
        NodesPage(),
    ]
}
