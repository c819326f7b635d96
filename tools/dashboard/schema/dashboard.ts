// What deploy/monitoring/dashboard.json may have: the types that Grafana publishes of a
// dashboard and of the three kinds of panels that it uses. make dashboard-schema writes them as
// a JSON schema, by which the tests of deploy/monitoring validate the dashboard without Node.
import type { DataQuery } from '@grafana/schema/dist/types/common/common.gen';
import type * as stat from '@grafana/schema/dist/types/raw/composable/stat/panelcfg/x/types.gen';
import type * as table from '@grafana/schema/dist/types/raw/composable/table/panelcfg/x/types.gen';
import type * as timeseries from '@grafana/schema/dist/types/raw/composable/timeseries/panelcfg/x/types.gen';
import type * as raw from '@grafana/schema/dist/types/raw/dashboard/x/types.gen';

// The package has no type for a query of Prometheus beyond what all queries have.
interface Query extends DataQuery {
  datasource: raw.DataSourceRef;
  expr: string;
  format: 'time_series' | 'table';
  instant: boolean;
  range: boolean;
  legendFormat: string;
}

// Grafana publishes a panel's options and own field configuration as maps of anything, because
// they depend on its kind.
interface Panel<Kind, Options, Custom> extends Omit<raw.Panel, 'type' | 'options' | 'targets' | 'fieldConfig'> {
  type: Kind;
  options: Options;
  targets: Query[];
  fieldConfig: Omit<raw.FieldConfigSource, 'defaults'> & { defaults: Omit<raw.FieldConfig, 'custom'> & { custom?: Custom } };
}

export interface Dashboard extends Omit<raw.Dashboard, 'panels'> {
  panels: Array<
    | (Omit<raw.RowPanel, 'panels'> & { panels: [] })
    | Panel<'stat', stat.Options, never>
    | Panel<'table', table.Options, Partial<table.FieldConfig>>
    | Panel<'timeseries', timeseries.Options, timeseries.FieldConfig>
  >;
}
