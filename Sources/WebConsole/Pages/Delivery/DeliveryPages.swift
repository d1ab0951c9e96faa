package import PageParts

/// The pages of the sidebar's section Delivery, in its order. A page that is reached by links follows the one that leads to it.
package enum DeliveryPages {
    package static let all: [any ConsolePage] = [
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
}
