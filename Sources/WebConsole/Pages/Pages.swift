import ConsoleAdministration
import ConsoleAudience
import ConsoleDelivery
import ConsoleOperations
package import PageParts

/// Every page of the console, in the order of the sidebar. Each section is a target, which lists its pages.
package enum Pages {
    package static let all: [any ConsolePage] =
        DeliveryPages.all + AudiencePages.all + OperationsPages.all + AdministrationPages.all + [HelpPage()]
}
