package import PageParts

/// The pages of the sidebar's section Operations, in its order. A page that is reached by links follows the one that leads to it.
package enum OperationsPages {
    package static let all: [any ConsolePage] = [
        AppsPage(),
        AppPage(),
        ParityPage(),
        RoutesPage(),
        AppRoutesPage(),
        MigrationsPage(),
        MigrationPage(),
        CredentialsPage(),
        CredentialPage(),
        SendersPage(),
        WebhooksPage(),
        WebhookPage(),
        CapturesPage(),
        CapturePage(),
        ExportsPage(),
    ]
}
