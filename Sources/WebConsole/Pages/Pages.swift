/// Every page of the console, in the order of the sidebar. A page that is reached by links follows the one that leads to it.
package enum Pages {
    package static let all: [any ConsolePage] = delivery + audience + operations + administration + [HelpPage()]

    private static let delivery: [any ConsolePage] = [
        OverviewPage(),
        MessagesPage(),
        MessagePage(),
        DeliveriesPage(),
        DeliveryPage(),
        ComposePage(),
        SentPage(),
        TemplatesPage(),
        TemplatePage(),
        FailuresPage(),
        FailurePage(),
        CampaignsPage(),
        HoursPage(),
        LivePage(),
    ]

    private static let audience: [any ConsolePage] = [
        FindPage(),
        DevicePage(),
        DiagnosisPage(),
        UsersPage(),
        UserPage(),
        GroupsPage(),
        GroupPage(),
        TestDevicesPage(),
        VersionsPage(),
    ]

    private static let operations: [any ConsolePage] = [
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

    private static let administration: [any ConsolePage] = [
        ApprovalsPage(),
        AccountsPage(),
        KeysPage(),
        KeyPage(),
        AuditPage(),
        PosturePage(),
        NodesPage(),
    ]
}
